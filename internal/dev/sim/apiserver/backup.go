package apiserver

import (
	"maps"
	"slices"
)

// Backup is all that a server stored at one moment, as a snapshot of etcd holds it.
type Backup struct {
	version uint64
	tables  map[Kind]*table
}

// Version is the resource version that it is as of.
func (b *Backup) Version() uint64 { return b.version }

// Backup makes a copy of what is stored. Stored objects are never changed, so it costs what there are, and no more.
func (s *Server) Backup() *Backup {
	b := &Backup{version: s.version, tables: map[Kind]*table{}}
	for k, t := range s.tables {
		b.tables[k] = t.copied()
	}
	return b
}

// Restore puts a backup in the place of what is stored: versions go back, and those that come are given out again.
// Every watch ends, and what was on its way to the server never arrives. The logs of writes and calls go on: they are
// not of the cluster.
func (s *Server) Restore(b *Backup) {
	s.version = b.version
	s.lives++
	s.changes++
	for k, t := range b.tables {
		s.tables[k] = t.copied()
	}
}

// Pass lets the server come to a version, if it has not yet, as if by writes of other objects.
func (s *Server) Pass(version uint64) { s.version = max(s.version, version) }

func (t *table) copied() *table {
	return &table{live: maps.Clone(t.live), order: slices.Clone(t.order), events: slices.Clip(slices.Clone(t.events)), compacted: t.compacted}
}
