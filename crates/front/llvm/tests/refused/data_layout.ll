target datalayout = "e-q8"
