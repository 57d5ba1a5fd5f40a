package events_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

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
