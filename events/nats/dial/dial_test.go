package dial_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events/nats/dial"
)

// write writes a file below dir and gives its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestContextsOfTheToolAreRead(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("SECRETS", home)
	creds := write(t, home, "my.creds", "-----BEGIN NATS USER JWT-----")
	write(t, home, "nats/context/prod.json", `{"description":"x","url":"nats://a:4222,nats://b:4222","creds":"$SECRETS/my.creds",
		"jetstream_domain":"hub","inbox_prefix":"_INBOX.me","tls_first":true,"color_scheme":"red"}`)
	named, err := dial.Config{Context: "prod"}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if named.URL != "nats://a:4222,nats://b:4222" || named.Creds != creds || named.Domain != "hub" ||
		named.InboxPrefix != "_INBOX.me" || !named.TLSFirst {
		t.Errorf("the context says %+v", named)
	}
	other := write(t, home, "other.creds", "x")
	byPath, err := dial.Config{Context: filepath.Join(home, "nats/context/prod.json"), URL: "nats://c", Creds: other}.Load()
	if err != nil || byPath.URL != "nats://c" || byPath.Creds != other || byPath.Domain != "hub" {
		t.Errorf("what is said beside the context does not win: %+v, %v", byPath, err)
	}
}

func TestWhatIsWrongOnThisMachineIsSaid(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	write(t, home, "nats/context/nsc.json", `{"nsc":"nsc://op/acc/user"}`)
	write(t, home, "nats/context/socks.json", `{"url":"nats://a","socks_proxy":"localhost:1080"}`)
	write(t, home, "nats/context/broken.json", `{`)
	write(t, home, "nats/context/gone.json", `{"creds":"/does/not/exist.creds"}`)
	seed := write(t, home, "seed.nk", "SUAB")
	for _, row := range []struct {
		sentence string
		config   dial.Config
		want     string
	}{
		{"a context that is not there", dial.Config{Context: "absent"}, `there is no NATS context "absent"`},
		{"a context that is no JSON", dial.Config{Context: "broken"}, "unexpected end of JSON"},
		{"a context that needs another tool", dial.Config{Context: "nsc"}, "its field nsc is not supported here"},
		{"a context with a proxy", dial.Config{Context: "socks"}, "socks_proxy"},
		{"credentials that are not there", dial.Config{Context: "gone"}, "read credentials: open /does/not/exist.creds"},
		{"a CA that is not there", dial.Config{CA: filepath.Join(home, "ca.pem")}, "read CA"},
		{"a certificate without a key", dial.Config{Cert: seed}, "a client certificate and its key go together"},
		{"two sorts of credentials", dial.Config{Creds: seed, NKey: seed}, "credentials of 2 sorts"},
		{"two JetStreams", dial.Config{Domain: "a", APIPrefix: "b"}, "want one"},
	} {
		if _, err := row.config.Load(); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.sentence, err, row.want)
		}
	}
}

func TestWhatIsShownOfAServerHoldsNoSecret(t *testing.T) {
	c, err := dial.Config{URL: "nats://me:secret@a:4222, tls://s3cr3t@b, c:1,u:p@d:2"}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Servers(), "nats://a:4222,tls://b,c:1,d:2"; got != want {
		t.Errorf("servers are shown as %s, want %s", got, want)
	}
	plain, err := dial.Config{}.Load()
	if err != nil || plain.Servers() != "nats://127.0.0.1:4222" {
		t.Errorf("without a URL: %s, %v", plain.Servers(), err)
	}
}

// TestAURLThatCannotBeReadKeepsItsSecret: an error that quotes the URL would print its secret.
func TestAURLThatCannotBeReadKeepsItsSecret(t *testing.T) {
	for _, url := range []string{"nats://me:s3cret%zz@host:4222", "nats://me:s3cret/x@host:4222", "nats://a,nats://s3cret%@b"} {
		file := write(t, t.TempDir(), "c.json", `{"url":"`+url+`"}`)
		_, err := dial.Config{Context: file}.Load()
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := (dial.Config{URL: "nats://me:s3cr%2Fet@host, tls://[::1]:4222,other:4223"}).Load(); err != nil {
		t.Error(err)
	}
}
