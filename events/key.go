package events

import (
	"crypto/sha256"
	"encoding/hex"
)

// Key is a secret of 32 random bytes, with which the log hashes values that it does not hold, such as the secret values
// of a pod template. A reader without the key cannot test a guess of a value against its hash. The key is not part of
// the log: a replay compares hashes.
type Key [32]byte

// hashBytes is the number of bytes that Key.Hash uses of a SHA-256 hash.
const hashBytes = 16

// ID returns 8 hexadecimal digits that tell keys apart. They reveal nothing about the key.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("jobledger key\x00"), k[:]...))
	return hex.EncodeToString(sum[:4])
}

// Seal returns the value of SealAnnotation for a pod in the namespace with this command annotation. A pod that names a
// create unknown to the log stops the controller, because the log may have lost records. Users may write annotations,
// so a command annotation counts only with its seal.
func (k Key) Seal(namespace, command string) string {
	return k.Hash("command", namespace, []byte(command))
}

// Hash returns a keyed hash of content: 32 hexadecimal digits. sort says what the content is, such as "command". The
// same content has different hashes in two namespaces. Otherwise a user who may create Jobs in one namespace could test
// guesses about another.
func (k Key) Hash(sort, namespace string, content []byte) string {
	inner := k.padded(0x36, len(sort)+len(namespace)+2+len(content))
	for _, part := range [...]string{sort, namespace} { // neither contains a zero byte, so a zero byte can end each
		inner = append(append(inner, part...), 0)
	}
	sum := sha256.Sum256(append(inner, content...))
	sum = sha256.Sum256(append(k.padded(0x5c, len(sum)), sum[:]...))
	return hex.EncodeToString(sum[:hashBytes])
}

// padded returns the first block of the input of one of the two SHA-256 hashes of an HMAC (RFC 2104): the key, each
// byte XORed with `with`. The slice has capacity for room more bytes. Package crypto/hmac computes the same HMAC, but
// with six allocations for each.
func (k Key) padded(with byte, room int) []byte {
	block := make([]byte, sha256.BlockSize, sha256.BlockSize+room)
	copy(block, k[:])
	for i := range block {
		block[i] ^= with
	}
	return block
}
