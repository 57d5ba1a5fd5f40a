package embedded

import (
	"fmt"

	natsd "github.com/nats-io/nats-server/v2/server"
)

// Subjects of JetStream and its clients.
const (
	api     = "$JS.API."
	nextAPI = "$JS.API.CONSUMER.MSG.NEXT."
	ackAPI  = "$JS.ACK."
	inboxes = "_INBOX." // prefix of readers' reply subjects
)

// delivered is the prefix of the subjects to which JetStream sends messages for readers, in the account with the
// stream. Readers see nothing else of that account. A message to the subject delivered + X appears in the readers'
// account as inboxes + X.
const delivered = "JOBLEDGER.READER."

// requests are the kinds of requests that the gate forwards, without the prefix api. All others get no answer: requests
// that create, change, purge or delete a stream or its messages, and lists of all consumers, because a reader who knows
// a consumer's name can use it.
var requests = []string{
	"INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.*", "STREAM.MSG.GET.*", "DIRECT.GET.*", "DIRECT.GET.*.>",
	"CONSUMER.INFO.*.*", "CONSUMER.DELETE.*.*",
	// Subjects to create a consumer, by newer and by older clients
	"CONSUMER.CREATE.*", "CONSUMER.CREATE.*.*", "CONSUMER.CREATE.*.*.>", "CONSUMER.DURABLE.CREATE.*.*",
}

// readable returns the subjects to which readers may send: requests for reading.
func readable() []string {
	all := []string{nextAPI + "*.*", ackAPI + ">"}
	for _, r := range requests {
		all = append(all, api+r)
	}
	return all
}

// share makes the messages for readers visible in their account. Nothing is shared in the other direction: only the
// gate receives what readers send.
func share(ledger, readers *natsd.Account) error {
	if err := ledger.AddStreamExport(delivered+">", []*natsd.Account{readers}); err != nil {
		return fmt.Errorf("export messages to readers: %w", err)
	}
	if err := readers.AddMappedStreamImport(ledger, delivered+">", inboxes+">"); err != nil {
		return fmt.Errorf("import messages for readers: %w", err)
	}
	return nil
}
