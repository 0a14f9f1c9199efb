"""What tests share: real servers, worlds and facts, in place of mocks."""
