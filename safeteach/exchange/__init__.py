"""Worlds from and to Gymnasium, tables and PRISM's language; each file needs what it reads."""
