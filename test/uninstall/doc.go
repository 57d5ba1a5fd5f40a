// Package uninstall installs Jobledger from deploy/, runs Jobs, and takes it off again by docs/uninstall.md, as it is
// written there. Nothing of it may be left. There is no kubectl and no container here: the test plays kubectl for the
// commands that the document uses, and runs the binary as the StatefulSet says, as its ServiceAccount.
package uninstall
