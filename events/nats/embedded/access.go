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
)

// Users of the server. Each has a secret as its password.
const (
	publisher  = "publisher"  // this process: its secret is made at each start and never leaves it
	gatekeeper = "gatekeeper" // this process, in the account of the readers; likewise
	// Owner is who may do everything, such as to delete a durable subscription of others. It must not publish to the
	// stream.
	Owner = "owner"
	// Reader is who may read the stream and keep a place in it, and nothing else.
	Reader = "reader"
)

// Bounds of what all readers together may hold. A reader that takes nothing holds up to maxPending bytes of memory.
const (
	maxReaders     = 64
	maxConnections = 512 // those that have not said yet who they are included
	maxPending     = 16 << 20
	maxPerReader   = 1000 // subscriptions of one connection
)

// access decides who may connect, and to which account. It is safe for concurrent use.
//
// There are two accounts. The first has the stream, and JetStream works in it. Nothing that a reader sends reaches it,
// and neither does an answer, wherever a reader wants that: the gate alone hears readers, in the second account, and
// asks for them in the first.
type access struct {
	secrets map[string]string // by user
	ledger  *natsd.Account
	readers *natsd.Account
	ready   chan struct{} // closed when both are set

	pauseUntil atomic.Int64 // nanoseconds since 1970: no reader gets in before that, and those who come wait
}

func newAccess(secrets map[string]string) *access {
	return &access{secrets: secrets, ready: make(chan struct{})}
}

// Check lets a connection in, or not. The server calls it for each.
func (a *access) Check(c natsd.ClientAuthentication) bool {
	if c.Kind() != natsd.CLIENT {
		return false
	}
	<-a.ready // the server starts; it takes a moment
	user := c.GetOpts().Username
	secret, known := a.secrets[user]
	if !known || subtle.ConstantTimeCompare([]byte(secret), []byte(c.GetOpts().Password)) != 1 {
		return false
	}
	switch user {
	case publisher, Owner:
		c.RegisterUser(&natsd.User{Username: user, Account: a.ledger})
		return true
	case gatekeeper:
		c.RegisterUser(&natsd.User{Username: user, Account: a.readers})
		return true
	}
	<-time.After(time.Until(time.Unix(0, a.pauseUntil.Load()))) // to be refused twice would end many a client
	if a.readers.NumLocalConnections() >= maxReaders {
		return false
	}
	c.RegisterUser(&natsd.User{Username: user, Account: a.readers, Permissions: &natsd.Permissions{
		Publish:   &natsd.SubjectPermission{Allow: readable()},
		Subscribe: &natsd.SubjectPermission{Allow: []string{inboxes + ">"}},
	}})
	return true
}

// fewestSecretBytes bounds how easily a secret is guessed. One that is made here has 26 characters.
const fewestSecretBytes = 16

// secretIn gives the secret that a file holds. One that is missing is made, and so is one that could not be written
// when it was made. One that anybody may read is refused.
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

// writeSecret writes all of it, or leaves no file behind that holds a part.
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
