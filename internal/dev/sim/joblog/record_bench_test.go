package joblog_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
)

func benchLog(b *testing.B) *joblog.Log {
	records := 50_000
	if testing.Short() {
		records = 20_000
	}
	return joblog.New(b, joblog.Busy(records))
}

// BenchmarkRecord measures the encoding of a busy cluster's records, beside the protobuf library's cost for the same
// messages, and SHA-256 for the same bytes.
func BenchmarkRecord(b *testing.B) {
	l := benchLog(b)
	m := l.Messages(b)
	l.Forget()
	b.Run("decode", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("decode", l.Len(), func() {
				for _, stored := range l.Stored {
					if _, err := events.DecodeRecord(stored); err != nil {
						b.Fatal(err)
					}
				}
			}),
			sidebyside.Computing("protobuf", l.Len(), func() { m.Unmarshal(nil) }))
	})
	b.Run("header", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("label", l.Len(), func() {
				for _, stored := range l.Stored {
					if _, err := events.DecodeLabel(stored); err != nil {
						b.Fatal(err)
					}
				}
			}),
			sidebyside.Computing("header", l.Len(), func() {
				for _, stored := range l.Stored {
					if _, err := events.DecodeHeader(stored); err != nil {
						b.Fatal(err)
					}
				}
			}),
			sidebyside.Computing("protobuf", l.Len(), func() { m.Unmarshal(nil) }))
	})
	b.Run("chain", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("chain", l.Len(), func() {
				var hash events.Hash
				var err error
				for _, stored := range l.Stored {
					if hash, err = hash.Next(stored); err != nil {
						b.Fatal(err)
					}
				}
			}),
			sidebyside.Computing("sha256", l.Len(), l.Hash))
	})
	b.Run("encode", func(b *testing.B) {
		messages := m.Decoded()
		var records []events.Record
		for _, stored := range l.Stored {
			r, err := events.DecodeRecord(stored)
			if err != nil {
				b.Fatal(err)
			}
			records = append(records, r)
		}
		sidebyside.Compare(b, "record",
			sidebyside.Computing("encode", l.Len(), func() {
				var buffer []byte
				var err error
				for i := range records {
					if buffer, err = events.AppendRecord(buffer[:0], &records[i]); err != nil {
						b.Fatal(err)
					}
				}
			}),
			sidebyside.Computing("protobuf", l.Len(), func() {
				var buffer []byte
				var err error
				for _, message := range messages {
					if buffer, err = (proto.MarshalOptions{}).MarshalAppend(buffer[:0], message); err != nil {
						b.Fatal(err)
					}
				}
			}))
	})
}
