module perch.example

go 1.26.8
