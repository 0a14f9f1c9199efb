"""The promises that the chapters rely on and the adapters keep; ``tests/contracts`` holds each one.

Every method may raise ``Unavailable`` when the other side can't be reached; nothing was done then
(or it is harmless to do it again).
"""
