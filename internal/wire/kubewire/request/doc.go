// Package request sends requests without decoding or encoding whole objects: it lists and watches what package kubewire
// reads, with the requests, streams and reflectors of client-go, and sends what kubewire encodes.
package request
