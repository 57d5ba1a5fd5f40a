package following

import (
	"cmp"
	"slices"
)

// sortPeers sorts a leader first, then later epochs first, then logs with more records first.
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
			cmp.Compare(a.address, b.address), // so that the order is always the same
		)
	})
}
