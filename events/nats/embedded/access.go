package embedded

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"

	"github.com/jobledger/jobledger/events/nats"
)

// The users of the server, which is in this process. Each has a secret as password.
const (
	publisher  = "publisher"  // this process; its secret is created at each start and never leaves it
	gatekeeper = "gatekeeper" // this process in the readers' account; its secret, too, is created at each start
	// Owner may do everything except publish messages of the stream, for example delete durable subscriptions of others.
	Owner = "owner"
	// Reader may read the stream and store a position in it, and nothing else.
	Reader = "reader"
)

// Bounds for all readers together. A reader that does not read its connection holds up to maxPending bytes of memory.
const (
	maxReaders     = 64
	maxConnections = 512 // including connections that have not authenticated yet
	maxPending     = 16 << 20
	maxPerReader   = 1000 // subscriptions of one connection
)

// access authenticates connections and chooses their NATS account. It is safe for concurrent use.
//
// There are two accounts. The account ledger has JetStream and the stream. The account readers is for readers. No
// message or reply of a reader reaches the account ledger. Only the gate, a part of this process, listens to readers,
// in their account. It forwards their requests.
type access struct {
	secrets map[string]string // by user
	ledger  *natsd.Account
	readers *natsd.Account
	ready   chan struct{} // closed when the accounts ledger and readers exist

	pauseUntil atomic.Int64 // nanoseconds since 1970: readers that connect earlier must wait
}

func newAccess(secrets map[string]string) *access {
	return &access{secrets: secrets, ready: make(chan struct{})}
}

// Check reports whether a connection is accepted. The server calls it for each connection.
func (a *access) Check(c natsd.ClientAuthentication) bool {
	if c.Kind() != natsd.CLIENT {
		return false
	}
	<-a.ready // if the server is still starting, wait until its accounts exist
	user := c.GetOpts().Username
	secret, known := a.secrets[user]
	if !known || subtle.ConstantTimeCompare([]byte(secret), []byte(c.GetOpts().Password)) != 1 {
		return false
	}
	switch user {
	case publisher:
		c.RegisterUser(&natsd.User{Username: user, Account: a.ledger})
		return true
	case Owner:
		c.RegisterUser(&natsd.User{Username: user, Account: a.ledger, Permissions: &natsd.Permissions{
			Publish: &natsd.SubjectPermission{Deny: []string{nats.Prefix + ".>"}},
		}})
		return true
	case gatekeeper:
		c.RegisterUser(&natsd.User{Username: user, Account: a.readers})
		return true
	}
	// Many clients give up after two refusals, so a client that must not connect yet waits here instead
	<-time.After(time.Until(time.Unix(0, a.pauseUntil.Load())))
	if a.readers.NumLocalConnections() >= maxReaders {
		return false
	}
	c.RegisterUser(&natsd.User{Username: user, Account: a.readers, Permissions: &natsd.Permissions{
		Publish:   &natsd.SubjectPermission{Allow: readable()},
		Subscribe: &natsd.SubjectPermission{Allow: []string{inboxes + ">"}},
	}})
	return true
}

// fewestSecretBytes is the minimum length of a secret. A generated one has 26 characters.
const fewestSecretBytes = 16

// secretIn returns the secret in a file. It creates a missing file, and replaces an empty one that an interrupted write
// left behind. It refuses a file that other users may read.
func secretIn(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		secret := rand.Text()
		if err := writeSecret(path, secret); err != nil {
			return "", fmt.Errorf("make a secret of the NATS server: %w", err)
		}
		return secret, nil
	}
	if err != nil {
		return "", fmt.Errorf("read a secret of the NATS server: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", fmt.Errorf("every user may read %s (mode %#o): remove it, and the next start makes a new secret", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read a secret of the NATS server: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < fewestSecretBytes {
		return "", fmt.Errorf("%s holds a secret of %d characters, want %d or more: remove it, and the next start makes a new one", path, len(secret), fewestSecretBytes)
	}
	return secret, nil
}

// writeSecret writes the file atomically.
func writeSecret(path, secret string) error {
	making := path + ".new"
	file, err := os.OpenFile(making, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(secret + "\n")
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(making, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(making))
	}
	return nil
}
