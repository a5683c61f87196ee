"""Headers of tables: where they are, their words in every language, and what one says by itself."""
