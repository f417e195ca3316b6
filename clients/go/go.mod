module github.com/phaseline/phaseline/clients/go

go 1.19
