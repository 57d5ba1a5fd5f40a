package natstest

import (
	_ "embed" // the messages
	"encoding/hex"
	"strings"
	"testing"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events/nats"
)

// before has the NATS messages that the last program before the first release published, in the form of
// events/nats/testdata/messages.txt: a line with the subject, a line for each header, and the data.
//
//go:embed testdata/before.txt
var before string

// Before returns the messages in testdata/before.txt, with Cluster as the cluster in their subjects.
func Before(t testing.TB) (all []*natsgo.Msg) {
	t.Helper()
	for line := range strings.Lines(before) {
		line = strings.TrimSuffix(line, "\n")
		text, indented := strings.CutPrefix(line, "  ")
		if !indented {
			subject, err := nats.ParseSubject(line)
			if err != nil {
				t.Fatal(err)
			}
			subject.Cluster = Cluster
			all = append(all, &natsgo.Msg{Subject: subject.String(), Header: natsgo.Header{}})
			continue
		}
		m := all[len(all)-1]
		name, value, header := strings.Cut(text, ": ")
		switch {
		case strings.HasPrefix(text, "{"):
			m.Data = []byte(text)
		case header:
			m.Header[name] = []string{value}
		default: // each other line has a record as protobuf, in hexadecimal digits
			var err error
			if m.Data, err = hex.DecodeString(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}
