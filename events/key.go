package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Key is the secret with which a log names what it does not hold: the values that are hidden in a pod template. Without it a
// name says nothing of a value that can be guessed. It is 32 random bytes, and no part of the log: a replay compares names.
type Key [32]byte

// hashBytes of a hash name something.
const hashBytes = 16

// ID tells keys apart: 8 hexadecimal digits. It says nothing of the key.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("jobledger key\x00"), k[:]...))
	return hex.EncodeToString(sum[:4])
}

// Seal is what a pod in that namespace bears beside its command annotation. Users may write annotations, and whoever finds a create that
// the log does not know stops the controller: so only those count that bear the seal.
func (k Key) Seal(namespace, command string) string {
	return k.Hash("command", namespace, []byte(command))
}

// Hash names content of a namespace, which is of that sort: 32 hexadecimal digits. Two namespaces never have the same name for
// the same content: who may make Jobs in one could else try what another one has.
func (k Key) Hash(sort, namespace string, content []byte) string {
	h := hmac.New(sha256.New, k[:])
	buf := make([]byte, 0, max(len(sort)+len(namespace)+2, sha256.Size))
	for _, part := range [...]string{sort, namespace} { // neither holds a zero byte
		buf = append(append(buf, part...), 0)
	}
	h.Write(buf)
	h.Write(content)
	return hex.EncodeToString(h.Sum(buf[:0])[:hashBytes])
}
