package nats_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

func TestTokensAreReadableAndForEver(t *testing.T) {
	for _, row := range []struct{ text, token string }{
		{"demo", "demo"},
		{"demo-0", "demo-0"},
		{"nightly.etl.example.com", "nightly_etl_example_com"},
		{"", "-"},
		{"-", "=2D"},
		{"--", "--"},
		{"a_b", "a=5Fb"},
		{"*", "=2A"},
		{">", "=3E"},
		{"prod/eu west", "prod=2Feu=20west"},
		{"Kind(77)", "Kind=2877=29"},
		{"\x00\xff", "=00=FF"},
		{"ü", "=C3=BC"},
	} {
		if got := nats.Token(row.text); got != row.token {
			t.Errorf("%q has token %q, want %q", row.text, got, row.token)
		}
	}
}

// FuzzASubjectIsReadBackExactly holds for any texts, not only for names that Kubernetes allows.
func FuzzASubjectIsReadBackExactly(f *testing.F) {
	for _, name := range []string{
		"", "-", "a", "0", "a.b", "a-b.c", "_", "=", "=2D", "*", ">", "$", " ", "..", strings.Repeat("a.", 126) + "a", "\xff", "é", "\r\n",
	} {
		f.Add(name, name, name, "JobAdded")
	}
	// NATS allows no white space, dot or wildcard in a token. Of the characters that it recommends we use only these.
	legal := regexp.MustCompile(`^jobledger\.v1(\.[-_=a-zA-Z0-9]+){5}$`)
	f.Fuzz(func(t *testing.T, cluster, namespace, name, event string) {
		want := nats.Subject{Cluster: cluster, Namespace: namespace, Kind: nats.KindJob, Name: name, Event: event}
		subject := want.String()
		if !legal.MatchString(subject) {
			t.Fatalf("%q is no legal subject", subject)
		}
		got, err := nats.ParseSubject(subject)
		if err != nil || got != want {
			t.Fatalf("%q is read back as %+v, %v; want %+v", subject, got, err, want)
		}
	})
}

// FuzzATokenHasOneSpelling: no two subjects mean the same, so a filter misses nothing under another spelling.
func FuzzATokenHasOneSpelling(f *testing.F) {
	for _, token := range []string{"-", "a", "_", "=2D", "=41", "=2d", "=", "=4", "==", "a=", "--", ""} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		text, err := nats.ParseToken(token)
		if err == nil && nats.Token(text) != token {
			t.Fatalf("token %q is read as %q, whose token is %q", token, text, nats.Token(text))
		}
	})
}

func TestASubjectNamesWhatTheRecordIsAbout(t *testing.T) {
	job := events.JobRef{Namespace: "prod", Name: "etl.v2", UID: "u1"}
	for _, row := range []struct {
		sentence string
		stream   events.Stream
		kind     events.Kind
		want     string
	}{
		{"a Job's record", events.JobStream("u1"), events.KindDecided, "jobledger.v1.eu.prod.job.etl_v2.Decided"},
		{"the controller's", events.Controller, events.KindSynced, "jobledger.v1.eu.-.controller.-.Synced"},
		{"an ownerless pod's", events.NamespaceStream("prod"), events.KindPodAdded, "jobledger.v1.eu.prod.namespace.-.PodAdded"},
		{"a CronJob's", events.Stream{Kind: events.StreamCronJob, ID: "u2"}, 77, "jobledger.v1.eu.prod.cronjob.etl_v2.Kind=2877=29"},
	} {
		h := events.Header{Stream: row.stream, Kind: row.kind}
		if got := nats.SubjectOf("eu", job, &h).String(); got != row.want {
			t.Errorf("%s has subject %s, want %s", row.sentence, got, row.want)
		}
	}
}

func TestAFilterSelectsByAnyField(t *testing.T) {
	for want, f := range map[string]nats.Filter{
		"jobledger.v1.*.*.*.*.*":                  {},
		"jobledger.v1.eu.prod.job.*.*":            {Cluster: "eu", Namespace: "prod", Kind: nats.KindJob},
		"jobledger.v1.eu.prod.job.etl_v2.Decided": {Cluster: "eu", Namespace: "prod", Kind: nats.KindJob, Name: "etl.v2", Event: "Decided"},
	} {
		if got := f.String(); got != want {
			t.Errorf("filter %+v is %s, want %s", f, got, want)
		}
	}
	if got, want := nats.Everything("eu west"), "jobledger.v1.eu=20west.>"; got != want {
		t.Errorf("everything of a cluster is %s, want %s", got, want)
	}
}

func TestWhatIsNoSubjectOfOursIsRefused(t *testing.T) {
	for _, subject := range []string{
		"", "jobledger", "jobledger.v1", "jobledger.v2.a.b.job.c.D", "jobledger.v1.a.b.job.c", "jobledger.v1.a.b.job.c.D.e",
		"jobledger.v1.a..job.c.D", "jobledger.v1.a.=2d.job.c.D", "jobledger.v1.a.*.job.c.D", "jobledger.v1.a.=41.job.c.D",
	} {
		if got, err := nats.ParseSubject(subject); err == nil {
			t.Errorf("%q is read as %+v", subject, got)
		}
	}
}
