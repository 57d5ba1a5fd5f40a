// Package request makes requests of which no whole objects are made: what package kubewire reads is listed and watched,
// with client-go's requests, streams and reflectors, and what it encodes is sent.
package request
