package metrics

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

// piece is how many series are gathered at a time to be written. All of them,
// with 200 targets, would take more memory than the whole run.
const piece = 512

// pieces hands out the vector's series, some at a time; v is locked.
func (v *vector) pieces(further []*dto.LabelPair, each func(*dto.MetricFamily) error) error {
	for keys := range slices.Chunk(v.keys(), piece) {
		if err := each(v.gather(keys, further)); err != nil {
			return err
		}
	}
	return nil
}

// text writes the series in the text format.
func (g gatherer) text(w io.Writer) error {
	var buffer bytes.Buffer
	for _, v := range g.vectors {
		buffer.Reset()
		if err := v.text(&buffer, g.further); err != nil {
			return err
		}
		if _, err := w.Write(buffer.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (v *vector) text(w *bytes.Buffer, further []*dto.LabelPair) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var lines bytes.Buffer
	return v.pieces(further, func(f *dto.MetricFamily) error {
		lines.Reset()
		if _, err := expfmt.MetricFamilyToText(&lines, f); err != nil {
			return err
		}
		if w.Len() > 0 { // the name's help and type are said once
			for range 2 {
				_, _ = lines.ReadBytes('\n') // it is there: the text has just been written
			}
		}
		w.Write(lines.Bytes())
		return nil
	})
}

// delimited returns the series as a Pushgateway reads them: protocol buffers,
// each after its length.
func (g gatherer) delimited() ([]byte, error) {
	const about = 100 // bytes a series
	series := 0
	for _, v := range g.vectors {
		series += v.len()
	}
	all := make([]byte, 0, about*series)
	for _, v := range g.vectors {
		var err error
		if all, err = v.delimited(all, g.further); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// delimited appends the vector as one message. The pieces of a message,
// encoded one after the other, are the message.
func (v *vector) delimited(to []byte, further []*dto.LabelPair) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	size, head := 0, true
	once := func(f *dto.MetricFamily) *dto.MetricFamily {
		if !head {
			f.Name, f.Help, f.Type = nil, nil, nil
		}
		head = false
		return f
	}
	err := v.pieces(further, func(f *dto.MetricFamily) error {
		size += proto.Size(once(f))
		return nil
	})
	if err != nil || size == 0 {
		return to, err
	}
	to = binary.AppendUvarint(to, uint64(size))
	head = true
	err = v.pieces(further, func(f *dto.MetricFamily) error {
		var err error
		to, err = proto.MarshalOptions{}.MarshalAppend(to, once(f))
		return err
	})
	return to, err
}
