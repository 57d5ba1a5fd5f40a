package show

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/examples"
)

func filled[T any](v *T) *T { return examples.Filled(v) }

func allFacts() map[events.Kind]events.Facts { return examples.Facts() }
