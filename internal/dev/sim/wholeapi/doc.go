// Package wholeapi adapts a server of decoded objects, such as the simulated one of package apiserver, to the
// executor's API, whose objects are encoded. It decodes the executor's requests and encodes the answers, as the network
// between a client and a real server does.
package wholeapi
