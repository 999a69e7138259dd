/* pointwise.inl - loops of this family. */
