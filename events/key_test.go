package events_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestAHashIsAnHMAC: logs and pods have hashes that crypto/hmac made.
func TestAHashIsAnHMAC(t *testing.T) {
	for n := range 200 {
		key, content := events.Key{0: byte(n), 31: byte(n)}, bytes.Repeat([]byte{byte(n)}, n)
		h := hmac.New(sha256.New, key[:])
		h.Write([]byte("template\x00ns\x00"))
		h.Write(content)
		if got, want := key.Hash("template", "ns", content), hex.EncodeToString(h.Sum(nil)[:16]); got != want {
			t.Fatalf("the hash of %d bytes is %s, want %s", n, got, want)
		}
	}
}

func TestWhatAHashDependsOn(t *testing.T) {
	key, other := events.Key{1}, events.Key{2}
	hash := key.Hash("template", "ns", []byte("content"))
	if hash != key.Hash("template", "ns", []byte("content")) || len(hash) != 32 {
		t.Errorf("hash %q is not always the same", hash)
	}
	for name, differs := range map[string]string{
		"key":                          other.Hash("template", "ns", []byte("content")),
		"sort":                         key.Hash("spec", "ns", []byte("content")),
		"namespace":                    key.Hash("template", "n", []byte("content")),
		"content":                      key.Hash("template", "ns", []byte("contents")),
		"border between the first two": key.Hash("templaten", "s", []byte("content")),
	} {
		if differs == hash {
			t.Errorf("it does not depend on the %s", name)
		}
	}
	if key.ID() == other.ID() || len(key.ID()) != 8 {
		t.Errorf("keys are called %q and %q", key.ID(), other.ID())
	}
}
