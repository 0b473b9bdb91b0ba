"""The screens: each shows a page, and takes what is clicked on it as an edit of the recipe or the start of a job."""
