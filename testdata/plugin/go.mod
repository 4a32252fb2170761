module example.org/plugin

go 1.26.0

require (
	github.com/spf13/afero v1.15.0
	github.com/unplug-go/unplug v0.0.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/unplug-go/unplug => ../..
