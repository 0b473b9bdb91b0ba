"""Records drawn from what at least k records of the table share: values, and intervals told by mean and spread."""
