package embedded_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/embedded"
)

const records = "records" // the stream

var subject = nats.Subject{Cluster: "c", Namespace: "n", Kind: nats.KindJob, Name: "j", Event: "JobAdded"}.String()

// world is a server with a stream and readers. The test is the publisher.
type world struct {
	*embedded.Server
	t      *testing.T
	js     jetstream.JetStream // of the publisher
	reader natsgo.Option
	owner  natsgo.Option
	stored uint64 // messages
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	s, err := embedded.Start(embedded.Config{
		Dir: dir, Listen: "127.0.0.1:0", ReaderSecret: filepath.Join(dir, "reader"), OwnerSecret: filepath.Join(dir, "owner"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w := &world{Server: s, t: t, reader: as(t, embedded.Reader, dir), owner: as(t, embedded.Owner, dir)}
	_, w.js = connect(t, "", s.Options()...)
	config := jetstream.StreamConfig{Name: records, Subjects: []string{nats.Everything("c")}, AllowDirect: true}
	if _, err := w.js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		w.publish()
	}
	return w
}

func as(t *testing.T, user, dir string) natsgo.Option {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(dir, user))
	if err != nil {
		t.Fatal(err)
	}
	return natsgo.UserInfo(user, strings.TrimSpace(string(secret)))
}

// publish stores a message. It must follow the message before, so a message of another client makes it fail.
func (w *world) publish() {
	w.t.Helper()
	if _, err := w.js.Publish(w.t.Context(), subject, fmt.Append(nil, w.stored), jetstream.WithExpectLastSequence(w.stored)); err != nil {
		w.t.Fatalf("message %d: %v", w.stored+1, err)
	}
	w.stored++
}

// unharmed checks that the stream has the publisher's messages, and no others.
func (w *world) unharmed() {
	w.t.Helper()
	st, err := w.js.Stream(w.t.Context(), records)
	if err != nil {
		w.t.Fatal(err)
	}
	if state := st.CachedInfo().State; state.Msgs != w.stored || state.LastSeq != w.stored {
		w.t.Fatalf("the stream has %d messages, the last at %d: want %d", state.Msgs, state.LastSeq, w.stored)
	}
	w.publish()
}

// readAs returns a reader's connection, and the errors that the server sends on it.
func (w *world) readAs() (*natsgo.Conn, jetstream.JetStream, <-chan error) {
	w.t.Helper()
	refused := make(chan error, 1000)
	conn, js := connect(w.t, w.URL(), w.reader, natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { refused <- err }))
	return conn, js, refused
}

// eavesdrop collects the subjects of all messages in the account with the stream, until heard is called.
func (w *world) eavesdrop() (heard func() []string) {
	w.t.Helper()
	conn, _ := connect(w.t, w.URL(), w.owner)
	sub, err := conn.SubscribeSync(">")
	if err != nil {
		w.t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		w.t.Fatal(err)
	}
	return func() []string {
		var all []string
		for {
			n, _, err := sub.Pending()
			if err != nil {
				w.t.Fatal(err)
			}
			if n == 0 {
				return all
			}
			m, err := sub.NextMsg(time.Second)
			if err != nil {
				w.t.Fatal(err)
			}
			all = append(all, m.Subject)
		}
	}
}

func TestReadersReadKeepTheirPlaceAndAcknowledge(t *testing.T) {
	w := newWorld(t)
	_, js, _ := w.readAs()
	for _, durable := range []string{"", "mine"} {
		consumer, err := js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{Durable: durable, AckPolicy: jetstream.AckExplicitPolicy})
		if err != nil {
			t.Fatalf("a reader makes no consumer: %v", err)
		}
		messages, err := consumer.Messages()
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.stored {
			m, err := messages.Next()
			if err != nil {
				t.Fatal(err)
			}
			if m.Subject() != subject || string(m.Data()) != fmt.Sprint(i) {
				t.Fatalf("message %d is %s on %s", i, m.Data(), m.Subject())
			}
			acknowledge := m.Ack
			if i == w.stored-1 {
				acknowledge = func() error { return m.DoubleAck(t.Context()) }
			}
			if err := acknowledge(); err != nil {
				t.Fatal(err)
			}
		}
		messages.Stop()
		info, err := consumer.Info(t.Context())
		if err != nil || info.AckFloor.Stream != w.stored {
			t.Errorf("the server remembers %+v (%v), want %d", info, err, w.stored)
		}
	}
	st, err := js.Stream(t.Context(), records)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := st.GetMsg(t.Context(), 5); err != nil || m.Subject != subject {
		t.Errorf("a reader gets %+v, %v", m, err)
	}
	if m, err := st.GetLastMsgForSubject(t.Context(), subject); err != nil || m.Sequence != w.stored {
		t.Errorf("a reader gets %+v, %v", m, err)
	}
	ordered, err := st.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := ordered.Next(); err != nil || m.Subject() != subject {
		t.Errorf("an ordered consumer gives %v", err)
	}
}

// TestWhereverAReaderWantsAnAnswerItDoesNotReachTheStream: the server does not check the reply subject of a request.
// Each request that a reader may make is made with each harmful reply subject.
func TestWhereverAReaderWantsAnAnswerItDoesNotReachTheStream(t *testing.T) {
	w := newWorld(t)
	conn, js, _ := w.readAs()
	if _, err := js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	publisher, _ := connect(t, "", w.Options()...)
	targets := []string{
		subject, publisher.NewInbox(), "$JS.API.STREAM.DELETE." + records, "$JS.API.STREAM.PURGE." + records,
		"$JS.ACK." + records + ".d.1.1.1.1.1", "_GATE.x", "JOBLEDGER.READER.x",
	}
	heard := w.eavesdrop()
	for _, request := range []struct{ subject, data string }{
		{"INFO", ""}, {"STREAM.NAMES", ""}, {"STREAM.LIST", ""}, {"STREAM.INFO." + records, ""}, {"STREAM.MSG.GET." + records, `{"seq":1}`},
		{"DIRECT.GET." + records, `{"seq":1}`}, {"DIRECT.GET." + records + "." + subject, ""}, {"CONSUMER.INFO." + records + ".d", ""},
		{"CONSUMER.CREATE." + records + ".e", `{"stream_name":"records","config":{"name":"e"}}`}, {"CONSUMER.DELETE." + records + ".e", ""},
		{"CONSUMER.MSG.NEXT." + records + ".d", `{"batch":3,"expires":1000000000}`}, {"CONSUMER.MSG.NEXT." + records + ".nobody", ""},
	} {
		for _, target := range targets {
			m := &natsgo.Msg{Subject: "$JS.API." + request.subject, Reply: target, Data: []byte(request.data), Header: natsgo.Header{
				"Nats-Trace-Dest": {target}, "Nats-Msg-Id": {"x"},
			}}
			if err := conn.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
			m.Header = nil
			if err := conn.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := js.Stream(t.Context(), records); err != nil { // by now the gate has answered all
		t.Fatal(err)
	}
	for _, reached := range heard() {
		if slices.Contains(targets, reached) {
			t.Errorf("an answer went to %s in the account with the stream", reached)
		}
	}
	w.unharmed()
	if info, err := js.Consumer(t.Context(), records, "d"); err != nil || info.CachedInfo().AckFloor.Stream != 0 {
		t.Errorf("something was acknowledged, or the consumer is gone: %v", err)
	}
}

func TestReadersPublishAndListenNowhereElse(t *testing.T) {
	w := newWorld(t)
	conn, _, refused := w.readAs()
	publisher, _ := connect(t, "", w.Options()...)
	inbox := publisher.NewInbox()
	want := func(what, subject string) {
		t.Helper()
		if err := <-refused; !strings.Contains(err.Error(), subject) {
			t.Errorf("a reader may %s %s: %v", what, subject, err)
		}
	}
	for _, forbidden := range []string{
		subject, inbox, "_GATE.x", "_INBOX.another", "$JS.API.STREAM.DELETE.records", "$JS.API.STREAM.PURGE.records", "$JS.API.STREAM.UPDATE.records",
		"$JS.API.STREAM.CREATE.other", "$JS.API.STREAM.MSG.DELETE.records", "$JS.API.STREAM.RESTORE.records", "$JS.API.STREAM.SNAPSHOT.records",
		"$JS.API.ACCOUNT.PURGE.x", "$JS.API.CONSUMER.PAUSE.records.d", "$JS.API.CONSUMER.RESET.records.d", "$JS.API.CONSUMER.UNPIN.records.d",
		"$JS.API.CONSUMER.NAMES.records", "$JS.API.CONSUMER.LIST.records", "$JS.FC.records.d.x", "$SYS.REQ.SERVER.PING",
		"JOBLEDGER.READER.x", "$JS.API.CONSUMER.DELETE.records.d.x",
	} {
		if err := conn.Publish(forbidden, nil); err != nil {
			t.Fatal(err)
		}
		want("publish to", forbidden)
	}
	for _, forbidden := range []string{">", "$JS.>", inbox, "_PUBLISHER.>", "jobledger.>", "_GATE.>", "_R_.>", "$SYS.>"} {
		if _, err := conn.SubscribeSync(forbidden); err != nil {
			t.Fatal(err)
		}
		want("listen at", forbidden)
	}
	w.unharmed()
}

// TestTheOwnerDeletesConsumersAndPublishesNothing: the owner is in the account with the stream, but a record comes from
// the publisher alone. One forged message would end the publisher's, which says where the message before stands.
func TestTheOwnerDeletesConsumersAndPublishesNothing(t *testing.T) {
	w := newWorld(t)
	refused := make(chan error, 10)
	conn, js := connect(t, w.URL(), w.owner, natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { refused <- err }))
	if err := conn.Publish(subject, []byte("forged")); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	w.unharmed()
	if err := <-refused; !errors.Is(err, natsgo.ErrPermissionViolation) {
		t.Errorf("the owner publishes, and the server says %v", err)
	}
	_, readers, _ := w.readAs()
	if _, err := readers.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{Durable: "theirs", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteConsumer(t.Context(), records, "theirs"); err != nil {
		t.Errorf("the owner deletes a reader's consumer: %v", err)
	}
}

// TestAReaderDoesNotFillTheLog: the server logs each message that may not be sent.
func TestAReaderDoesNotFillTheLog(t *testing.T) {
	var said strings.Builder
	dir := t.TempDir()
	s, err := embedded.Start(embedded.Config{
		Dir: dir, Listen: "127.0.0.1:0", ReaderSecret: filepath.Join(dir, embedded.Reader), Logger: slog.New(slog.NewTextHandler(&said, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1000)
	conn, _ := connect(t, s.URL(), as(t, embedded.Reader, dir), natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { refused <- err }))
	for range 300 {
		if err := conn.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		if err := <-refused; !errors.Is(err, natsgo.ErrPermissionViolation) {
			t.Fatal(err)
		}
	}
	s.Close()
	if lines := strings.Count(said.String(), "\n"); lines != 1 || !strings.Contains(said.String(), "Publish Violation") {
		t.Errorf("it says %d lines:\n%s", lines, said.String())
	}
}

func TestWhoHasNoSecretGetsNothing(t *testing.T) {
	w := newWorld(t)
	for sentence, option := range map[string]natsgo.Option{
		"nobody":                         natsgo.Name("nobody"),
		"a reader without a secret":      natsgo.UserInfo(embedded.Reader, ""),
		"a reader with a wrong secret":   natsgo.UserInfo(embedded.Reader, "0123456789012345678901234"),
		"the publisher without a secret": natsgo.UserInfo("publisher", ""),
		"the gatekeeper":                 natsgo.UserInfo("gatekeeper", ""),
		"somebody":                       natsgo.UserInfo("me", "me"),
	} {
		if conn, err := natsgo.Connect(w.URL(), option); !errors.Is(err, natsgo.ErrAuthorization) {
			conn.Close()
			t.Errorf("%s is let in: %v", sentence, err)
		}
	}
}

func TestASecretThatAnybodyMayReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	config := embedded.Config{Dir: dir, Listen: "127.0.0.1:0", ReaderSecret: secret}
	s, err := embedded.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file has the mode %v (%v), want 0600", info.Mode(), err)
	}
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := embedded.Start(config); err == nil || !strings.Contains(err.Error(), "every user may read") {
		s.Close()
		t.Errorf("it is taken: %v", err)
	}
}

// TestConsumersThatDoMoreThanReadAreRefused: only the data of a request says what a consumer would do.
func TestConsumersThatDoMoreThanReadAreRefused(t *testing.T) {
	w := newWorld(t)
	conn, js, _ := w.readAs()
	heard := w.eavesdrop()
	publisher, _ := connect(t, "", w.Options()...)
	long := strings.Repeat("x", 20<<10)
	for _, row := range []struct{ sentence, config, says string }{
		{"that pushes into the stream", `"deliver_subject":"` + subject + `"`, "may not set deliver_subject"},
		{"that pushes requests", `"deliver_subject":"$JS.API.STREAM.DELETE.records"`, "may not set deliver_subject"},
		{"that pushes copies of headers", `"headers_only":true,"deliver_subject":"$JS.API.STREAM.PURGE.records"`, "may not set deliver_subject"},
		{"that pushes to the publisher", `"deliver_subject":"` + publisher.NewInbox() + `"`, "may not set deliver_subject"},
		{"that pushes to others", `"deliver_subject":"_INBOX.another"`, "may not set deliver_subject"},
		{"that pushes acknowledgements", `"deliver_subject":"$JS.ACK.records.d.1.1.1.1.1"`, "may not set deliver_subject"},
		{"in other letters", `"Deliver_Subject":"` + subject + `"`, "may not set Deliver_Subject"},
		{"said twice", `"deliver_subject":"","deliver_subject":"` + subject + `"`, "may not set deliver_subject"},
		{"of a group", `"deliver_group":"g"`, "may not set deliver_group"},
		{"that samples", `"sample_freq":"100"`, "may not set sample_freq"},
		{"with flow control", `"flow_control":true`, "may not set flow_control"},
		{"without a bound of messages in flight", `"ack_policy":"explicit","max_ack_pending":-1`, "max_ack_pending"},
		{"with a million requests", `"max_waiting":1000000`, "max_waiting"},
		{"that delivers again at once", `"ack_policy":"explicit","ack_wait":1`, "ack_wait"},
		{"that is kept for ever", `"inactive_threshold":31536000000000000`, "inactive_threshold"},
		{"that begins with the last of each subject", `"deliver_policy":"last_per_subject"`, "deliver_policy"},
		{"with many filters", `"filter_subjects":["a` + strings.Repeat(`","a`, 64) + `"]`, "65 of them"},
		{"with a book in it", `"description":"` + long + `"`, "want 16384 at most"},
		{"under another's name", `"durable_name":"other"`, `the request says "e"`},
	} {
		t.Run("one "+row.sentence, func(t *testing.T) {
			for _, request := range []string{"CONSUMER.CREATE.records.e", "CONSUMER.DURABLE.CREATE.records.e"} {
				data := []byte(`{"stream_name":"records","config":{` + row.config + `}}`)
				answer, err := conn.Request("$JS.API."+request, data, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				var said struct {
					Error *jetstream.APIError `json:"error"`
				}
				if err := json.Unmarshal(answer.Data, &said); err != nil || said.Error == nil || !strings.Contains(said.Error.Description, row.says) {
					t.Errorf("%s: %s (%v), want %q", request, answer.Data, err, row.says)
				}
			}
		})
	}
	if _, err := js.Consumer(t.Context(), records, "e"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("a consumer was made: %v", err)
	}
	for _, reached := range heard() {
		if reached == subject || strings.HasPrefix(reached, "$JS.API.STREAM.DELETE") || strings.HasPrefix(reached, "_PUBLISHER.") {
			t.Errorf("%s was reached", reached)
		}
	}
	w.unharmed()
}

func TestReadersMakeNoMoreConsumersThanThereIsRoomFor(t *testing.T) {
	w := newWorld(t)
	_, js, _ := w.readAs()
	made := 0
	var err error
	for ; err == nil && made < 1000; made++ {
		_, err = js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{Durable: fmt.Sprintf("d%d", made), AckPolicy: jetstream.AckExplicitPolicy})
	}
	if err == nil || !strings.Contains(err.Error(), "may make no more") {
		t.Fatalf("after %d consumers: %v", made, err)
	}
	if _, err := js.UpdateConsumer(t.Context(), records, jetstream.ConsumerConfig{
		Durable: "d0", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Second,
	}); err != nil {
		t.Errorf("one that exists cannot be used any more: %v", err)
	}
	if _, err := w.js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy}); err != nil {
		t.Errorf("the publisher makes none, either: %v", err)
	}
	w.unharmed()
}

func TestADurableConsumerStaysAsItsMakerWantedIt(t *testing.T) {
	w := newWorld(t)
	_, maker, _ := w.readAs()
	config := jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy, FilterSubjects: []string{subject}}
	if _, err := maker.CreateConsumer(t.Context(), records, config); err != nil {
		t.Fatal(err)
	}
	_, js, _ := w.readAs()
	if err := js.DeleteConsumer(t.Context(), records, "d"); err == nil || !strings.Contains(err.Error(), "may not delete a durable consumer") {
		t.Errorf("a reader deletes it: %v", err)
	}
	for sentence, change := range map[string]func(*jetstream.ConsumerConfig){
		"asks for something else":    func(c *jetstream.ConsumerConfig) { c.FilterSubjects = []string{subject + ".x"} },
		"asks for everything":        func(c *jetstream.ConsumerConfig) { c.FilterSubjects = nil },
		"is forgotten at once":       func(c *jetstream.ConsumerConfig) { c.InactiveThreshold = time.Nanosecond },
		"gives up after one attempt": func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 1 },
	} {
		changed := config
		change(&changed)
		if _, err := js.CreateOrUpdateConsumer(t.Context(), records, changed); err == nil || !strings.Contains(err.Error(), "the consumer exists, with another") {
			t.Errorf("one that %s: %v", sentence, err)
		}
	}
	config.AckWait = 3 * time.Second
	for range 2 { // the second changes nothing
		if _, err := js.CreateOrUpdateConsumer(t.Context(), records, config); err != nil {
			t.Errorf("the patience of the server cannot be set: %v", err)
		}
	}
	consumer, err := w.js.Consumer(t.Context(), records, "d")
	if err != nil {
		t.Fatal(err)
	}
	got := consumer.CachedInfo().Config
	if !slices.Equal(got.FilterSubjects, config.FilterSubjects) && got.FilterSubject != subject || got.AckWait != config.AckWait {
		t.Errorf("it is %+v", got)
	}
	if got.InactiveThreshold != 30*24*time.Hour {
		t.Errorf("it is kept for %s", got.InactiveThreshold)
	}

	other, err := js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteConsumer(t.Context(), records, other.CachedInfo().Name); err != nil {
		t.Errorf("a reader cannot delete what is not durable: %v", err)
	}
	_, owner := connect(t, w.URL(), w.owner)
	if err := owner.DeleteConsumer(t.Context(), records, "d"); err != nil {
		t.Errorf("the owner cannot delete it: %v", err)
	}
}

// TestReadersThatFloodTheServerDoNotStarveThePublisher: several connections send whatever they can, as fast as they
// can. All messages of the publisher are stored, each behind the one before it.
func TestReadersThatFloodTheServerDoNotStarveThePublisher(t *testing.T) {
	w := newWorld(t)
	_, js, _ := w.readAs()
	if _, err := js.CreateConsumer(t.Context(), records, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	floods := []struct{ subject, reply string }{
		{"$JS.API.INFO", subject}, {"$JS.API.STREAM.INFO." + records, "_INBOX.x"}, {"$JS.API.CONSUMER.MSG.NEXT." + records + ".d", "_INBOX.x"},
		{"$JS.API.CONSUMER.MSG.NEXT." + records + ".d", subject}, {"$JS.API.CONSUMER.CREATE." + records + ".e", subject}, {"$JS.ACK." + records + ".d.1.1.1.1.1", ""},
	}
	conns := make([]*natsgo.Conn, len(floods))
	for i := range floods {
		conns[i], _, _ = w.readAs()
		if _, err := conns[i].SubscribeSync("_INBOX.x"); err != nil { // and never reads
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var flooding sync.WaitGroup
	for i, flood := range floods {
		flooding.Go(func() { // ends with ctx
			for ctx.Err() == nil {
				_ = conns[i].PublishRequest(flood.subject, flood.reply, []byte("{}")) // the server may end the connection
			}
		})
	}
	for range 2000 {
		w.publish()
	}
	stop()
	flooding.Wait()
	w.unharmed()
}
