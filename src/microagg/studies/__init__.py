"""Studies: experiments that can be run again, one file each."""
