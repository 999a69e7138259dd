/* random.inl - loops of this family. */
