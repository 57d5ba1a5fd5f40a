package controller

// Files in the log's directory that say where the controller with that log answers, and with which secrets.
const (
	ServerFile = "SERVER"      // where the endpoint for readers answers: a URL
	NATSFile   = "NATS"        // where the NATS server in its process answers: a URL
	ReaderFile = "NATS.reader" // the password of the user embedded.Reader, who may read the stream
	OwnerFile  = "NATS.owner"  // the password of the user embedded.Owner, who may do everything
)
