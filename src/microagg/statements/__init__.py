"""What a release says about itself: its guarantees, what was counted, what it does not hide, how it was made."""
