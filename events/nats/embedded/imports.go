package embedded

import (
	"fmt"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// What JetStream and its clients use.
const (
	api     = "$JS.API."
	nextAPI = "$JS.API.CONSUMER.MSG.NEXT."
	ackAPI  = "$JS.ACK."
	inboxes = "_INBOX." // where readers want answers
)

// delivered is where JetStream sends messages for readers, in the account with the stream. It is all of that account
// that readers see: a message for delivered + X comes out at inboxes + X in theirs.
const delivered = "JOBLEDGER.READER."

// requests are the kinds of requests that the gate passes on, after the prefix. What is not here has no answer:
// whatever makes, changes, empties or deletes a stream or its messages, and lists of all consumers, whose names are
// what one needs to use them.
var requests = []string{
	"INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.*", "STREAM.MSG.GET.*", "DIRECT.GET.*", "DIRECT.GET.*.>",
	"CONSUMER.INFO.*.*", "CONSUMER.DELETE.*.*",
	"CONSUMER.CREATE.*", "CONSUMER.CREATE.*.*", "CONSUMER.CREATE.*.*.>", "CONSUMER.DURABLE.CREATE.*.*", // by newer and older clients
}

// readable are all subjects that readers may publish to.
func readable() []string {
	all := []string{nextAPI + "*.*", ackAPI + ">"}
	for _, r := range requests {
		all = append(all, api+r)
	}
	return all
}

// share lets readers see what is sent to them. Nothing goes the other way: what they send, only the gate hears.
func share(ledger, readers *natsd.Account) error {
	if err := ledger.AddStreamExport(delivered+">", []*natsd.Account{readers}); err != nil {
		return fmt.Errorf("export messages to readers: %w", err)
	}
	if err := readers.AddMappedStreamImport(ledger, delivered+">", inboxes+">"); err != nil {
		return fmt.Errorf("import messages for readers: %w", err)
	}
	return nil
}
