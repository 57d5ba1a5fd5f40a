package events

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The fields of container, wait and condition messages, with their numbers in record.proto.
var (
	containerName     = bytesField(1)
	containerExitCode = varintField(2)
	containerReason   = bytesField(3)
	containerMessage  = bytesField(4)
	containerKind     = varintField(5)
	containerStarted  = varintField(6)
	containerFinished = varintField(7)
	containerRestarts = varintField(8)
	containerAgain    = varintField(9)
	containerWithheld = varintField(10)

	waitName     = bytesField(1)
	waitReason   = bytesField(2)
	waitMessage  = bytesField(3)
	waitKind     = varintField(4)
	waitWithheld = varintField(5)

	conditionType    = bytesField(1)
	conditionStatus  = bytesField(2)
	conditionReason  = bytesField(3)
	conditionMessage = bytesField(4)
	conditionSince   = varintField(5)
)

// inSeconds returns t in whole seconds, which need half the bytes of nanoseconds. It is for times of other clocks than
// ours. A value that no Time can hold decodes to 0.
func inSeconds(t Time) uint64 { return uint64(t.Second() / Time(time.Second)) }

func fromSeconds(v uint64) Time {
	const most = math.MaxInt64 / int64(time.Second)
	if s := int64(v); s >= -most && s <= most {
		return Time(s * int64(time.Second))
	}
	return 0
}

func decodeContainer(b []byte, err *error) (c ContainerEnd) {
	for f := (wireFields{rest: b}); f.next(err); {
		switch f.field {
		case containerName:
			c.Name = f.text(err)
		case containerExitCode:
			c.ExitCode = int32(protowire.DecodeZigZag(f.value & (1<<32 - 1)))
		case containerReason:
			c.Reason = f.text(err)
		case containerMessage:
			c.Message = f.text(err)
		case containerKind:
			c.Kind = ContainerKind(f.value)
		case containerStarted:
			c.Started = fromSeconds(f.value)
		case containerFinished:
			c.Finished = fromSeconds(f.value)
		case containerRestarts:
			c.Restarts = uint32(f.value)
		case containerAgain:
			c.Again = f.value != 0
		case containerWithheld:
			c.MessageWithheld = f.value != 0
		}
	}
	return c
}

func appendContainer(buf []byte, c *ContainerEnd, err *error) []byte {
	buf, begin := beginField(buf, evidenceContainers.number)
	buf = appendTextField(buf, containerName.number, c.Name, err)
	buf = appendVarintField(buf, containerExitCode.number, protowire.EncodeZigZag(int64(c.ExitCode)))
	buf = appendTextField(buf, containerReason.number, c.Reason, err)
	buf = appendTextField(buf, containerMessage.number, c.Message, err)
	buf = appendVarintField(buf, containerKind.number, uint64(c.Kind))
	buf = appendVarintField(buf, containerStarted.number, inSeconds(c.Started))
	buf = appendVarintField(buf, containerFinished.number, inSeconds(c.Finished))
	buf = appendVarintField(buf, containerRestarts.number, uint64(c.Restarts))
	buf = appendVarintField(buf, containerAgain.number, protowire.EncodeBool(c.Again))
	buf = appendVarintField(buf, containerWithheld.number, protowire.EncodeBool(c.MessageWithheld))
	return endField(buf, begin)
}

func decodeWait(b []byte, err *error) (w ContainerWait) {
	for f := (wireFields{rest: b}); f.next(err); {
		switch f.field {
		case waitName:
			w.Name = f.text(err)
		case waitReason:
			w.Reason = f.text(err)
		case waitMessage:
			w.Message = f.text(err)
		case waitKind:
			w.Kind = ContainerKind(f.value)
		case waitWithheld:
			w.MessageWithheld = f.value != 0
		}
	}
	return w
}

func appendWait(buf []byte, w *ContainerWait, err *error) []byte {
	buf, begin := beginField(buf, evidenceWaits.number)
	buf = appendTextField(buf, waitName.number, w.Name, err)
	buf = appendTextField(buf, waitReason.number, w.Reason, err)
	buf = appendTextField(buf, waitMessage.number, w.Message, err)
	buf = appendVarintField(buf, waitKind.number, uint64(w.Kind))
	buf = appendVarintField(buf, waitWithheld.number, protowire.EncodeBool(w.MessageWithheld))
	return endField(buf, begin)
}

func decodeCondition(b []byte, err *error) (c ConditionText) {
	for f := (wireFields{rest: b}); f.next(err); {
		switch f.field {
		case conditionType:
			c.Type = f.text(err)
		case conditionStatus:
			c.Status = f.text(err)
		case conditionReason:
			c.Reason = f.text(err)
		case conditionMessage:
			c.Message = f.text(err)
		case conditionSince:
			c.Since = fromSeconds(f.value)
		}
	}
	return c
}

func appendCondition(buf []byte, c *ConditionText, err *error) []byte {
	buf, begin := beginField(buf, evidenceConditions.number)
	buf = appendTextField(buf, conditionType.number, c.Type, err)
	buf = appendTextField(buf, conditionStatus.number, c.Status, err)
	buf = appendTextField(buf, conditionReason.number, c.Reason, err)
	buf = appendTextField(buf, conditionMessage.number, c.Message, err)
	buf = appendVarintField(buf, conditionSince.number, inSeconds(c.Since))
	return endField(buf, begin)
}
