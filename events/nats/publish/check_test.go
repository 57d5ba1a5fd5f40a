package publish_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

func TestStreamsThatLoseMessagesAreRefusedOrFlagged(t *testing.T) {
	for _, row := range []struct {
		sentence      string
		change        func(*jetstream.StreamConfig)
		refused, flag string // what is said; empty for nothing beside what is always said
	}{
		{"a stream as it is made is taken", func(*jetstream.StreamConfig) {}, "", ""},
		{"no subjects of ours", func(c *jetstream.StreamConfig) { c.Subjects = []string{"a.>"} }, "its subjects are", ""},
		{"also other subjects", func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "a.>") }, "its subjects are", ""},
		{"the subjects of all clusters", func(c *jetstream.StreamConfig) { c.Subjects = []string{nats.Prefix + ".>"} }, "with these as sources", ""},
		{"a work queue", func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "messages are deleted when some have read them", ""},
		{"interest", func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "messages are deleted when some have read them", ""},
		{"in memory", func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "in memory it is lost", ""},
		{"without acknowledgement", func(c *jetstream.StreamConfig) { c.NoAck = true }, "does not acknowledge", ""},
		{"asynchronous persistence", func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode }, "acknowledges what it has not written", ""},
		{"few messages of a subject", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }, "keeps only 1 messages of each subject", ""},
		{"tiny messages", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1024 }, "too small for the headers", ""},
		{"a mirror", func(c *jetstream.StreamConfig) { c.Mirror = &jetstream.StreamSource{Name: "x"} }, "copies other streams", ""},
		{"sealed", func(c *jetstream.StreamConfig) { c.Sealed = true }, "it is sealed", ""},
		{"renamed subjects", func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: ">", Destination: "x.>"}
		}, "renames subjects", ""},
		{"one replica", func(c *jetstream.StreamConfig) { c.Replicas = 1 }, "", "it is on one server"},
		{"three replicas without atomic batches", func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false }, "", "allow_atomic"},
		{"one replica without atomic batches", func(c *jetstream.StreamConfig) { c.Replicas, c.AllowAtomicPublish = 1, false }, "", "it is on one server"},
		{"an hour", func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour }, "", "deleted after 1h0m0s"},
		{"few messages", func(c *jetstream.StreamConfig) { c.MaxMsgs = 1000 }, "", "which is few"},
		{"few bytes", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }, "", "which is little"},
		{"small messages", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 32 << 10 }, "", "evidence and facts are left out"},
		{"a bound that drops the oldest", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 40 }, "", "the oldest messages are deleted"},
		{"a bound that stops", func(c *jetstream.StreamConfig) { c.MaxBytes, c.Discard = 1<<40, jetstream.DiscardNew }, "", "publishing stops"},
		{"a short window for duplicates", func(c *jetstream.StreamConfig) { c.Duplicates = time.Second }, "", "knows duplicates for 1s only"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			c := jetstream.StreamConfig{
				Name: "s", Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage, Replicas: 3, Duplicates: 2 * time.Minute,
				MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxMsgsPerSubject: -1, // as a server says that there is no bound
				AllowAtomicPublish: true,
			}
			row.change(&c)
			refused, flags := publish.Check(&c, cluster)
			if (len(refused) > 0) != (row.refused != "") || !strings.Contains(strings.Join(refused, "\n"), row.refused) {
				t.Errorf("refused: %q, want %q", refused, row.refused)
			}
			always, said := flags[len(flags)-1], strings.Join(flags[:len(flags)-1], "\n")
			if !strings.Contains(always, "sync_interval") {
				t.Errorf("what cannot be seen is not said: %q", flags)
			}
			if row.refused == "" && (said != "") != (row.flag != "") || !strings.Contains(said, row.flag) {
				t.Errorf("flagged: %q, want %q", said, row.flag)
			}
		})
	}
}

func TestWhatCannotWorkIsRefusedAtOnce(t *testing.T) {
	for want, change := range map[string]func(*publish.Config){
		"no log":                      func(c *publish.Config) { c.Log = nil },
		"the cluster has no name":     func(c *publish.Config) { c.Cluster = "" },
		"data of type":                func(c *publish.Config) { c.ContentType = "text/xml" },
		"a bound is negative":         func(c *publish.Config) { c.MaxInFlight = -1 },
		"cannot be called":            func(c *publish.Config) { c.Stream.Name = "a.b" },
		"want 1 to 5":                 func(c *publish.Config) { c.Stream.Replicas = 7 },
		"of the stream is negative":   func(c *publish.Config) { c.Stream.MaxAge = -1 },
		`there is no NATS context "x`: func(c *publish.Config) { c.Dial.Context = "x" },
	} {
		c := publish.Config{Log: memlog.New(life), Cluster: cluster}
		change(&c)
		if _, err := publish.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
