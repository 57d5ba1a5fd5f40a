package apiserver

import (
	"maps"
	"slices"
)

// Backup has everything that a server stored at one moment, like a snapshot of etcd.
type Backup struct {
	version uint64
	tables  map[Kind]*table
}

// Version returns the resource version of the backup.
func (b *Backup) Version() uint64 { return b.version }

// Backup returns a copy of everything that the server stores. Stored objects are never changed, so the copy shares
// them.
func (s *Server) Backup() *Backup {
	b := &Backup{version: s.version, tables: map[Kind]*table{}}
	for k, t := range s.tables {
		b.tables[k] = t.copied()
	}
	return b
}

// Restore replaces the stored state by a backup. The resource version goes back, so versions after the backup are
// assigned a second time. Every watch ends, and requests in flight never arrive. The logs of writes and calls continue,
// because they are not part of the cluster.
func (s *Server) Restore(b *Backup) {
	s.version = b.version
	s.lives++
	s.changes++
	for k, t := range b.tables {
		s.tables[k] = t.copied()
	}
}

// Pass raises the server's resource version to the given one, unless it is already higher, as if clients had written
// other objects.
func (s *Server) Pass(version uint64) { s.version = max(s.version, version) }

func (t *table) copied() *table {
	return &table{live: maps.Clone(t.live), order: slices.Clone(t.order), events: slices.Clip(slices.Clone(t.events)), compacted: t.compacted}
}
