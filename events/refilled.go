package events

// StreamRefilled records a repair of a log that is kept in a NATS stream: the stream had lost records, and the process
// that now writes it stored them there again from its own disk. The log itself lost nothing.
type StreamRefilled struct {
	// From and Through are the records that were stored again. From is Through+1 if none were missing.
	From, Through Sequence
	// Place is the sequence of the last NATS message in the stream when the new writer took the stream over; 0 if the
	// stream was gone and was created again.
	Place uint64
}

func (*StreamRefilled) facts() factType { return factStreamRefilled }
