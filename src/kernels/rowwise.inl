/* rowwise.inl - loops of this family. */
