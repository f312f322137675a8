"""Pictures that the figures of several chapters share: one file a picture."""
