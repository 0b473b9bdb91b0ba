"""What several releases of one table spent: the ledger beside the data, and what its sum does and does not mean."""
