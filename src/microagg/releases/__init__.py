"""Where the stages meet: from a table and a recipe to a verified release."""
