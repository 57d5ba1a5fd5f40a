package controller

// Files in the log's directory with the address and the passwords of the NATS server in the controller's process. The
// address of the endpoint for readers is in serve.AddressFile.
const (
	NATSFile   = "NATS"        // the URL of the NATS server in this process
	ReaderFile = "NATS.reader" // the password of the user embedded.Reader, who may read the stream
	OwnerFile  = "NATS.owner"  // the password of the user embedded.Owner, who may do everything
)
