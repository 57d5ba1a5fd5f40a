package following

import (
	"cmp"
	"slices"
)

// sortPeers sorts controllers by how well their logs can be copied: a leader first, then logs in a later epoch (life of
// the log), then logs with more records.
func sortPeers(all []peer) {
	slices.SortFunc(all, func(a, b peer) int {
		switch {
		case a.head.Leads != b.head.Leads && a.head.Leads:
			return -1
		case a.head.Leads != b.head.Leads:
			return 1
		}
		return cmp.Or(
			-cmp.Compare(a.head.Epoch, b.head.Epoch),
			-cmp.Compare(a.head.Sequence, b.head.Sequence),
			cmp.Compare(a.address, b.address), // so that the order is the same each time
		)
	})
}
