"""Noise: where it comes from, and how what no library draws in whole numbers is drawn exactly."""

from microagg.privacy.noise.sources import Noise, NoisyCounts, OpenDPNoise, SeededNoise, Silence, noise_from

__all__ = ["Noise", "NoisyCounts", "OpenDPNoise", "SeededNoise", "Silence", "noise_from"]
