package publish

import (
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
)

// Check flags a stream with limits below these: a subscriber that is away for a night could miss messages.
const (
	fewMessages = 100_000
	fewBytes    = 64 << 20
	shortAge    = 24 * time.Hour
	// Check refuses a stream whose largest message is smaller than leastMessage: a message without evidence and facts,
	// the parts of a record that can be omitted, has about 1 KB. Below smallMessage it sets a flag, because larger
	// messages lose their evidence or facts.
	leastMessage = 4 << 10
	smallMessage = 64 << 10
)

// Check returns as refused why a stream would lose acknowledged messages or mix up their order; empty for a good
// stream. flags holds other facts that the owner of the stream should know.
func Check(c *jetstream.StreamConfig, cluster string) (refused, flags []string) {
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			refused = append(refused, fmt.Sprintf(format, args...))
		}
	}
	want := nats.Everything(cluster)
	refuse(!slices.Equal(c.Subjects, []string{want}),
		"its subjects are %q and must be [%q] alone, as the order of messages is kept for a whole stream (to bring several clusters together, make a stream with these as sources)",
		c.Subjects, want)
	refuse(c.Mirror != nil || len(c.Sources) > 0, "it copies other streams; publish to those")
	refuse(c.Sealed, "it is sealed")
	refuse(c.SubjectTransform != nil, "it renames subjects")
	refuse(c.Retention != jetstream.LimitsPolicy, "with retention %q messages are deleted when some have read them; want %q",
		c.Retention.String(), jetstream.LimitsPolicy.String())
	refuse(c.Storage != jetstream.FileStorage, "in memory it is lost with the server; want storage \"file\"")
	refuse(c.NoAck, "it does not acknowledge (no_ack), so what it stored is unknown")
	refuse(c.PersistMode != jetstream.DefaultPersistMode, "with asynchronous persistence it acknowledges what it has not written")
	refuse(c.MaxMsgsPerSubject > 0, "it keeps only %d messages of each subject (max_msgs_per_subject), and a Job's are many on one", c.MaxMsgsPerSubject)
	refuse(c.MaxMsgSize > 0 && c.MaxMsgSize < leastMessage, "messages of %d bytes (max_msg_size) are too small for the headers; want %d", c.MaxMsgSize, leastMessage)

	flag := func(is bool, format string, args ...any) {
		if is {
			flags = append(flags, fmt.Sprintf(format, args...))
		}
	}
	flag(c.Replicas <= 1, "it is on one server (replicas 1): records wait in the log while that is away, and its disk is the only one")
	flag(c.Replicas > 1 && !c.AllowAtomicPublish, "it takes no atomic batches (allow_atomic): each record waits for the acknowledgement of the one before")
	flag(c.MaxAge > 0 && c.MaxAge < shortAge, "messages are deleted after %s (max_age): a subscriber that is away for longer misses some", c.MaxAge)
	flag(c.MaxMsgs > 0 && c.MaxMsgs < fewMessages, "it holds %d messages (max_msgs), which is few: a busy cluster makes that many in minutes", c.MaxMsgs)
	flag(c.MaxBytes > 0 && c.MaxBytes < fewBytes, "it holds %d bytes (max_bytes), which is little: a busy cluster makes that many in an hour", c.MaxBytes)
	flag(c.MaxMsgSize > 0 && c.MaxMsgSize >= leastMessage && c.MaxMsgSize < smallMessage,
		"messages are at most %d bytes (max_msg_size): of larger ones evidence and facts are left out", c.MaxMsgSize)
	flag(c.Discard == jetstream.DiscardNew && (c.MaxMsgs > 0 || c.MaxBytes > 0),
		"when it is full it takes nothing more (discard \"new\"): publishing stops until there is room, and nothing is lost")
	flag(c.Discard == jetstream.DiscardOld && (c.MaxMsgs > 0 || c.MaxBytes > 0),
		"when it is full the oldest messages are deleted, read or not (discard \"old\")")
	flag(c.Duplicates > 0 && c.Duplicates < duplicates && (c.MaxAge == 0 || c.Duplicates < c.MaxAge),
		"it knows duplicates for %s only (duplicate_window)", c.Duplicates)
	flags = append(flags, "whether the server acknowledges before its disk has synced (sync_interval, 2 minutes unless set to always) cannot be seen from here; "+
		"what it loses of the newest messages is published again")
	return refused, flags
}
