"""The methods: what each is composed of, and what each hands on."""
