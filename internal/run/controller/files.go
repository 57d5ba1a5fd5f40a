package controller

// Files in the log's directory that say where the NATS server in the controller's process answers, and with which
// secrets. Where its endpoint answers is in serve.AddressFile.
const (
	NATSFile   = "NATS"        // where the NATS server in its process answers: a URL
	ReaderFile = "NATS.reader" // the password of the user embedded.Reader, who may read the stream
	OwnerFile  = "NATS.owner"  // the password of the user embedded.Owner, who may do everything
)
