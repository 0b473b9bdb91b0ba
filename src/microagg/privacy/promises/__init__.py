"""The words of promises, by what is promised."""
