package events

import (
	"crypto/sha256"
	"encoding/hex"
)

// Key is a secret of 32 random bytes. With it a log names values that it does not hold, such as the hidden values of a
// pod template. Who lacks the key cannot test a guess of a value against its name. The key is no part of the log: a
// replay compares names.
type Key [32]byte

// hashBytes of a hash name something.
const hashBytes = 16

// ID tells keys apart: 8 hexadecimal digits. It says nothing of the key.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("jobledger key\x00"), k[:]...))
	return hex.EncodeToString(sum[:4])
}

// Seal gives the proof that a pod of that namespace carries next to its command annotation. Users may write
// annotations, and a create that the log does not know stops the controller. So an annotation counts only with its
// seal.
func (k Key) Seal(namespace, command string) string {
	return k.Hash("command", namespace, []byte(command))
}

// Hash names content of a namespace, which is of that sort: 32 hexadecimal digits. Two namespaces never have the same
// name for the same content: who may make Jobs in one could else try what another one has.
func (k Key) Hash(sort, namespace string, content []byte) string {
	inner := k.padded(0x36, len(sort)+len(namespace)+2+len(content))
	for _, part := range [...]string{sort, namespace} { // neither holds a zero byte
		inner = append(append(inner, part...), 0)
	}
	sum := sha256.Sum256(append(inner, content...))
	sum = sha256.Sum256(append(k.padded(0x5c, len(sum)), sum[:]...))
	return hex.EncodeToString(sum[:hashBytes])
}

// padded is the key as the first block of what one of the two hashes of an HMAC (RFC 2104) is made of, with room for
// the rest. The HMAC of crypto/hmac is the same, and makes six objects for each.
func (k Key) padded(with byte, room int) []byte {
	block := make([]byte, sha256.BlockSize, sha256.BlockSize+room)
	copy(block, k[:])
	for i := range block {
		block[i] ^= with
	}
	return block
}
