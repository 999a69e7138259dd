/* optimize.inl - loops of this family. */
