package html

import (
	"fmt"
	"html/template"
	"io"

	"mpitx/export"
)

// Page is a page of heat maps and tables.
type Page struct {
	Title, What string
	Head        []string // safe lines
	Maps        []HeatMap
	Tables      []Table
}

// HeatMap is a chart of cells in rows, the first row on top.
type HeatMap struct {
	Title         string
	Row, Column   string // titles of the axes
	Rows, Columns []string
	Cells         [][]HeatCell
}

// HeatCell is a cell with lines of text. The greater its share, from 0 to 1, the darker it is.
type HeatCell struct {
	Lines []string
	Share float64
}

// Table is a table with a title; it is left out without rows.
type Table struct {
	Title string
	Rows  *export.Rows
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	t := export.Terminal{UTF8: true}
	d := document{Title: t.Safe(p.Title), What: t.Safe(p.What), Head: p.Head}
	for _, m := range p.Maps {
		d.Charts = append(d.Charts, Chart{t.Safe(m.Title), "", m.svg(t)})
	}
	for _, one := range p.Tables {
		if len(one.Rows.Rows) > 0 {
			d.Tables = append(d.Tables, newTable(t.Safe(one.Title), one.Rows, t))
		}
	}
	return template.Must(template.New("report").Parse(page)).Execute(w, d)
}

func (m *HeatMap) svg(t export.Terminal) template.HTML {
	const width, height = 84, 30
	var d drawing
	left := 24.0
	for _, name := range m.Rows {
		left = max(left, 24+widthOf(name))
	}
	for i, row := range m.Cells {
		y := float64(i * height)
		d.write(left-6, y+height/2+3, "end", m.Rows[i])
		for k, c := range row {
			x := left + float64(k*width)
			fill, ink := "#ffffff", black
			if c.Share > 0 {
				fill = shade(min(c.Share, 1))
			}
			if c.Share > 0.3 {
				ink = "#ffffff"
			}
			fmt.Fprintf(&d, `<rect x="%.1f" y="%.1f" width="%d" height="%d" fill="%s" stroke="%s" stroke-width=".5"/>`+"\n", x, y, width, height, fill, grey)
			for line, words := range c.Lines {
				fmt.Fprintf(&d, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s">%s</text>`+"\n", x+width/2, y+height/2+3+float64(10*line)-float64(5*(len(c.Lines)-1)), ink, template.HTMLEscapeString(shorten(t.Safe(words), width)))
			}
		}
	}
	bottom := float64(len(m.Cells) * height)
	for k, name := range m.Columns {
		d.write(left+float64(k*width)+width/2, bottom+14, "middle", name)
	}
	d.write(left+float64(len(m.Columns)*width)/2, bottom+28, "middle", m.Column)
	fmt.Fprintf(&d, `<text transform="translate(10,%.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", bottom/2, template.HTMLEscapeString(m.Row))
	return d.svg(int(left)+len(m.Columns)*width+8, int(bottom)+34, m.Title)
}

// shorten cuts a text to a width.
func shorten(s string, width float64) string {
	r := []rune(s)
	for len(r) > 1 && widthOf(string(r)) > width+8 {
		r = append(r[:len(r)-2], '…')
	}
	return string(r)
}
