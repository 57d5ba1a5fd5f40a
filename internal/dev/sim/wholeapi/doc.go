// Package wholeapi adapts a server of whole objects, such as the fake one of package apiserver, to the executor's API.
// It decodes the executor's requests and encodes the server's answers, as happens between a client and a real server.
package wholeapi
