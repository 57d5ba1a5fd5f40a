package stream

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// LeastServer is the oldest version of nats-server whose proposals carry the Raft term (nats-server#8370). An older
// server may accept a message from a leader that was voted out.
const LeastServer = "2.14.5"

// LeastReplicas is the minimum number of servers that store a log's stream, so that one of them may lose its disk.
const LeastReplicas = 3

// Wrong returns what is wrong with the settings c of a log's stream, in sentences for operators; nil if nothing is.
// Each sentence names one setting because of which acknowledged messages may be lost or changed, or a server may answer
// that lacks them. name is the log's name, and server the version of the servers. unsafe permits fewer servers than
// LeastReplicas.
func Wrong(name string, c *jetstream.StreamConfig, server string, unsafe bool) (all []string) {
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	only := Subject(name)
	say(!slices.Equal(c.Subjects, []string{only}), "its subjects are %q, want %s alone", c.Subjects, only)
	say(c.Replicas < LeastReplicas && !unsafe,
		"%d of the servers hold it (num_replicas), want %d: a disk that is lost is its end", c.Replicas, LeastReplicas)
	say(c.Storage != jetstream.FileStorage, "its storage is %s, want file", c.Storage)
	say(c.PersistMode == jetstream.AsyncPersistMode, "its persist_mode is async: it acknowledges what is not stored")
	say(c.Retention != jetstream.LimitsPolicy,
		"its retention is %s, want limits: readers would take messages away", c.Retention)
	say(c.Discard != jetstream.DiscardNew,
		"its discard is %s, want new: a full stream would drop its oldest messages", c.Discard)
	say(c.MaxAge > 0, "its max_age is %s: messages go by themselves", c.MaxAge)
	say(c.MaxMsgs > 0, "its max_msgs is %d: want none", c.MaxMsgs)
	say(c.MaxMsgsPerSubject > 0, "its max_msgs_per_subject is %d: want none", c.MaxMsgsPerSubject)
	say(!c.DenyDelete, "its messages can be deleted: want deny_delete")
	say(c.AllowRollup, "it has allow_rollup: one message can replace all others")
	say(c.AllowDirect || c.MirrorDirect, "it has allow_direct: a server answers that does not have all")
	say(c.AllowMsgTTL || c.SubjectDeleteMarkerTTL > 0, "it has message TTLs: messages go by themselves")
	say(c.AllowMsgCounter, "it has counters: messages are changed as they are stored")
	say(c.AllowMsgSchedules, "it has schedules: the server publishes by itself")
	say(c.AllowAtomicPublish || c.AllowBatchPublish, "it takes batches: places are not those that a writer expects")
	say(c.Mirror != nil || len(c.Sources) > 0, "it has a mirror or sources: others write it")
	say(c.SubjectTransform != nil, "it has a subject transform: want none")
	say(c.NoAck, "it has no_ack: nothing is acknowledged")
	say(c.Sealed, "it is sealed: it takes nothing")
	say(Older(server), "the server is nats-server %s, want %s or newer", server, LeastServer)
	return all
}

// Older reports whether a version of nats-server is older than LeastServer.
func Older(version string) bool { return older(version, LeastServer) }

// older reports whether version is older than `than`. An unreadable version counts as older.
func older(version, than string) bool {
	v, ok1 := numbers(version)
	w, ok2 := numbers(than)
	return !ok1 || !ok2 || slices.Compare(v, w) < 0
}

// numbers returns the three numbers of a version such as v2.14.5-RC.1: 2, 14, 5.
func numbers(version string) (all []int, ok bool) {
	release, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for _, part := range strings.Split(release, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		all = append(all, n)
	}
	return all, len(all) == 3
}
