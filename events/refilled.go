package events

// StreamRefilled records that the stream of a replicated log had lost records, and that its new writer stored them
// there again from its own disk. The log itself lost nothing.
type StreamRefilled struct {
	// From and Through are the records that were stored again. From is Through+1 if none were missing.
	From, Through Sequence
	// Place is the sequence of the last NATS message in the stream when the new writer took the stream over; 0 if the
	// stream was gone and was created again.
	Place uint64
}

func (*StreamRefilled) facts() factType { return factStreamRefilled }
